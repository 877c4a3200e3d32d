# Uploads a file with the tus project's client for Python, in pieces of 80 MB, and prints the address of the upload.
# Arguments: address, provider, authorization, key, message, file.
import sys

from tusclient.client import TusClient

address, provider, authorization, key, message, path = sys.argv[1:]

client = TusClient(
    address,
    headers={
        "X-Auth-Service-Provider": provider,
        "X-Verify-Credentials-Authorization": authorization,
    },
)
uploader = client.uploader(
    path,
    chunk_size=80_000_000,
    metadata={"key": key, "message": message},
    retries=100,
    retry_delay=0.1,
)
uploader.upload()
print(uploader.url)
