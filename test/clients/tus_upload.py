# Uploads a file with the tus project's client for Python, in pieces of 80 MB, and prints the address of the upload.
# Arguments: address, provider, authorization, key, message, file, then more addresses to upload to.
import sys

from tusclient.client import TusClient

address, provider, authorization, key, message, path = sys.argv[1:7]
headers = {"X-Auth-Service-Provider": provider, "X-Verify-Credentials-Authorization": authorization}

for each in [address, *sys.argv[7:]]:
    uploader = TusClient(each, headers=headers).uploader(
        path,
        chunk_size=80_000_000,
        metadata={"key": key, "message": message},
        retries=100,
        retry_delay=0.1,
    )
    uploader.upload()
    print(uploader.url)
