//! Uploads a file with tus_client, and prints the address of the upload.
//! Arguments: address, provider, authorization, API key, message, file.
use std::{collections::HashMap, env, path::Path};

use reqwest::header::{HeaderMap, HeaderValue};

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let [address, provider, authorization, key, message, file] = args.as_slice() else {
        panic!("six arguments");
    };
    let mut headers = HeaderMap::new();
    headers.insert("X-Auth-Service-Provider", HeaderValue::from_str(provider).unwrap());
    headers.insert("X-Verify-Credentials-Authorization", HeaderValue::from_str(authorization).unwrap());
    let client = tus_client::Client::new(reqwest::Client::builder().default_headers(headers).build().unwrap());
    let metadata = HashMap::from([("key".to_string(), key.clone()), ("message".to_string(), message.clone())]);
    let url = client.create_with_metadata(address, Path::new(file), metadata).expect("create");
    client.upload(&url, Path::new(file)).expect("upload");
    println!("{url}");
}
