import { shellWord } from '/scripts/client.js';
import type { Access } from './app-files.ts';

/** A shell script that uploads a file, or a screenshot that it takes, and copies the link. The token is in no argument of a process. */
export function uploadScript({ address, provider, authorization, key }: Access) {
  return `#!/bin/sh
# Uploads a file or a screenshot, prints the link, and copies it.
# This file contains a token: anyone who has it can upload as you until the token expires.
#
#   echodrop-upload photo.jpg 'A caption'
#   echodrop-upload flameshot     (or spectacle, or grim)

set -eu
umask 077

address=${shellWord(address)}
provider=${shellWord(provider)}
authorization=${shellWord(authorization)}
key=${shellWord(key)}

if [ $# -eq 0 ] || [ "\${1#-}" != "$1" ]; then
  echo "Usage: \${0##*/} FILE|flameshot|spectacle|grim [CAPTION]" >&2
  exit 2
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
media=$folder/media.png

case $1 in
  flameshot | spectacle) tools=$1 ;;
  grim) tools='grim slurp' ;;
  *) tools= ;;
esac
for tool in $tools; do
  if ! command -v "$tool" > /dev/null; then
    echo "Install $tool first." >&2
    exit 1
  fi
done
case $1 in
  flameshot) flameshot gui --raw > "$media" ;;
  spectacle) spectacle --region --background --nonotify --output "$media" ;;
  grim) grim -g "$(slurp)" "$media" ;;
  /*) ln -s "$1" "$media" ;;
  *) ln -s "$PWD/$1" "$media" ;;
esac
if [ -d "$media" ] || [ ! -s "$media" ]; then
  echo "Nothing to upload: $1 is missing, empty or a folder, or took no screenshot." >&2
  exit 1
fi

# A text in quotes, for the configuration of curl.
quote() {
  printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\\\"]/\\\\&/g')"
}

# curl would split a path at ; and ,
cd "$folder"

# The same for all retries, so that a lost response adds no second upload.
attempt=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')

# Without control characters, which could change the terminal.
response=$(curl --silent --show-error --retry 5 --retry-all-errors --connect-timeout 20 \\
  --speed-limit 1 --speed-time 120 --write-out ' %{http_code}' \\
  --form-string "key=$key" --form-string "message=\${2-}" --form media=@media.png \\
  --config - "$address" <<END | LC_ALL=C tr -cd ' -~'
header = $(quote "X-Auth-Service-Provider: $provider")
header = $(quote "X-Verify-Credentials-Authorization: $authorization")
header = "Idempotency-Key: \\"$attempt\\""
END
)
status=\${response##* }

# The value of a field in the last JSON that contains it.
field() {
  printf '%s' "$response" | sed -n 's/.*"'"$1"'": *"\\([^"]*\\)".*/\\1/p'
}

link=$(field url)
if [ "$status" != 200 ] || [ -z "$link" ]; then
  case $status in
    '' | 000) message='no response from the server.' ;;
    200) message='the response of the server has no link.' ;;
    *) message=$(field message) ;;
  esac
  printf 'Upload failed: %s\\n' "\${message:-the server responded with $status.}" >&2
  case $response in
    *'"api_key_unknown"'*) echo "Set key in this file to the API key from the operator of the site." >&2 ;;
    *'"credentials_refused"'*) echo "Sign in again and download this file again." >&2 ;;
  esac
  case $status in
    '' | 000 | 200 | 409 | 5??) echo "It may have been published: check your uploads before you try again." >&2 ;;
  esac
  exit 1
fi

printf '%s\\n' "$link"
if [ -n "\${WAYLAND_DISPLAY-}" ] && command -v wl-copy > /dev/null; then
  printf '%s' "$link" | wl-copy || echo "wl-copy could not copy the link." >&2
elif [ -n "\${DISPLAY-}" ] && command -v xclip > /dev/null; then
  printf '%s' "$link" | xclip -selection clipboard > /dev/null || echo "xclip could not copy the link." >&2
fi
`;
}
