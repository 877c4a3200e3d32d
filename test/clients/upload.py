# Uploads a file as any program with requests does, and prints the response: its status on a line, then its body.
# Arguments: address, provider, OAuth header, API key, message, file.
import sys

import requests

address, provider, authorization, key, message, path = sys.argv[1:]

with open(path, "rb") as media:
    response = requests.post(
        address,
        headers={
            "X-Auth-Service-Provider": provider,
            "X-Verify-Credentials-Authorization": authorization,
        },
        data={"key": key, "message": message},
        files={"media": media},
    )

sys.stdout.buffer.write(b"%d\n" % response.status_code + response.content)
