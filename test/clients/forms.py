# Uploads a file with Python's HTTP clients, and prints each response as a line of JSON.
# Arguments: address, provider, authorization, API key, message, file, then the names of requests.
import asyncio
import json
import sys

import aiohttp
import httpx
import requests
from requests_toolbelt import MultipartEncoder

address, provider, authorization, key, message, path = sys.argv[1:7]
HEADERS = {"X-Auth-Service-Provider": provider, "X-Verify-Credentials-Authorization": authorization}
FIELDS = {"key": key, "message": message}
# Each library writes this name in another way.
NAME = 'ж б;"q".jpg'
MEDIA_TYPE = "image/jpeg"


def with_requests(fields=None):
    with open(path, "rb") as media:
        files = {**(fields or {}), "media": (NAME, media, MEDIA_TYPE)}
        response = requests.post(address, headers=HEADERS, data=None if fields else FIELDS, files=files)
    return response.status_code, response.text


def typed(content_type):
    return {"key": (None, key), "message": (None, message, content_type)}


def with_toolbelt():
    with open(path, "rb") as media:
        form = MultipartEncoder({**FIELDS, "media": (NAME, media, MEDIA_TYPE)})
        headers = {**HEADERS, "Content-Type": form.content_type}
        response = requests.post(address, headers=headers, data=form)
    return response.status_code, response.text


def with_httpx(version="HTTP/1.1"):
    with open(path, "rb") as media, httpx.Client(http2=version == "HTTP/2", verify=False, timeout=60) as client:
        files = {"media": (NAME, media, MEDIA_TYPE)}
        response = client.post(address, headers=HEADERS, data=FIELDS, files=files)
    assert response.http_version == version, response.http_version
    return response.status_code, response.text


async def with_aiohttp(text=message, quote_fields=True, is_chunked=False):
    async def pieces():
        with open(path, "rb") as media:
            while piece := media.read(65536):
                yield piece

    with open(path, "rb") as media:
        form = aiohttp.FormData(quote_fields=quote_fields)
        form.add_field("key", key)
        form.add_field("message", text)
        content = pieces() if is_chunked else media
        form.add_field("media", content, filename=NAME, content_type=MEDIA_TYPE)
        async with aiohttp.ClientSession() as session:
            async with session.post(address, headers=HEADERS, data=form) as response:
                return response.status, await response.text()


REQUESTS = {
    "requests": with_requests,
    "requests, fields without file names": lambda: with_requests({"key": (None, key), "message": (None, message)}),
    "requests, JSON field": lambda: with_requests(typed("application/json")),
    "requests, binary field": lambda: with_requests(typed("application/octet-stream")),
    "requests-toolbelt": with_toolbelt,
    "httpx": with_httpx,
    "httpx, HTTP/2 over TLS": lambda: with_httpx("HTTP/2"),
    "aiohttp": lambda: asyncio.run(with_aiohttp()),
    "aiohttp, unquoted names": lambda: asyncio.run(with_aiohttp(quote_fields=False)),
    "aiohttp, chunked": lambda: asyncio.run(with_aiohttp(is_chunked=True)),
    "aiohttp, bytes as text": lambda: asyncio.run(with_aiohttp(text=message.encode())),
}

for name in sys.argv[7:]:
    status, text = REQUESTS[name]()
    print(json.dumps({"request": name, "status": status, "text": text}))
