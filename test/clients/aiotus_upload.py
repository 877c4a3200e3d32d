# Uploads a file with aiotus, in one piece, and prints the address of the upload.
# Arguments: address, provider, authorization, key, message, file, then more addresses to upload to.
import asyncio
import sys

import aiotus

address, provider, authorization, key, message, path = sys.argv[1:7]
headers = {"X-Auth-Service-Provider": provider, "X-Verify-Credentials-Authorization": authorization}
metadata = {"key": key.encode(), "message": message.encode(), "filename": b"photo.jpg"}

for each in [address, *sys.argv[7:]]:
    with open(path, "rb") as media:
        url = asyncio.run(aiotus.upload(each, media, metadata, headers=headers))
    if url is None:
        sys.exit("aiotus gave up")
    print(url)
