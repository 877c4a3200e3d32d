// Uploads a file with go-tus in pieces of 1 KiB, and prints the address of the upload.
// Arguments: address, provider, authorization, API key, message, file.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"

	tus "github.com/eventials/go-tus"
)

func main() {
	address, provider, authorization, key, message, path := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6]
	config := tus.DefaultConfig()
	config.ChunkSize = 1024
	config.Header = http.Header{
		"X-Auth-Service-Provider":            {provider},
		"X-Verify-Credentials-Authorization": {authorization},
	}
	media, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	stat, err := media.Stat()
	if err != nil {
		log.Fatal(err)
	}
	client, err := tus.NewClient(address, config)
	if err != nil {
		log.Fatal(err)
	}
	metadata := tus.Metadata{"key": key, "message": message}
	uploader, err := client.CreateUpload(tus.NewUpload(media, stat.Size(), metadata, ""))
	if err != nil {
		log.Fatal("create: ", err)
	}
	if err := uploader.Upload(); err != nil {
		log.Fatal("upload: ", err)
	}
	fmt.Println(uploader.Url())
}
