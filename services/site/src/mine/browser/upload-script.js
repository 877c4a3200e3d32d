// @ts-check
import { quote } from './app-files.js';

/**
 * A shell script that uploads a file, or a screenshot that it takes, and copies the link. The token is in no argument of a process.
 *
 * @param {import('./app-files.js').Access} access
 */
export function uploadScript({ address, provider, authorization, key }) {
  return `#!/bin/sh
# Uploads a file or a screenshot, prints the link, and copies it.
# This file contains a token: anyone who has it can upload as you until the token expires.
#
#   echodrop-upload photo.jpg 'A caption'
#   echodrop-upload flameshot     (or spectacle, or grim)

set -eu
umask 077

address=${quote(address)}
provider=${quote(provider)}
authorization=${quote(authorization)}
key=${quote(key)}

if [ $# -eq 0 ] || [ "\${1#-}" != "$1" ]; then
  echo "Usage: \${0##*/} FILE|flameshot|spectacle|grim [CAPTION]" >&2
  exit 2
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
media=$folder/media.png

case $1 in
  flameshot | spectacle | grim)
    if ! command -v "$1" > /dev/null; then
      echo "Install $1 first." >&2
      exit 1
    fi
    ;;
esac
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

response=$(curl --silent --show-error --retry 5 --retry-all-errors --connect-timeout 20 \\
  --speed-limit 1 --speed-time 120 --write-out '%{http_code}' \\
  --form-string "key=$key" --form-string "message=\${2-}" --form media=@media.png \\
  --config - "$address" <<END
header = $(quote "X-Auth-Service-Provider: $provider")
header = $(quote "X-Verify-Credentials-Authorization: $authorization")
header = "Idempotency-Key: \\"$attempt\\""
END
) || true

if [ "\${response##*\\}}" != 200 ]; then
  message=$(printf '%s' "$response" | sed -n 's/.*"message":"\\([^"]*\\)".*/\\1/p')
  echo "Upload failed: \${message:-no response from the server.}" >&2
  case $response in
    *'"api_key_unknown"'*) echo "Set key in this file to the API key from the operator of the site." >&2 ;;
    *'"credentials_refused"'*) echo "Sign in again and download this file again." >&2 ;;
    *000 | *409 | *5??) echo "It may have been published: check your uploads before you try again." >&2 ;;
  esac
  exit 1
fi

link=$(printf '%s' "$response" | sed -n 's/.*"url":"\\([^"]*\\)".*/\\1/p')
printf '%s\\n' "$link"
if [ -n "\${WAYLAND_DISPLAY-}" ] && command -v wl-copy > /dev/null; then
  printf '%s' "$link" | wl-copy || echo "wl-copy could not copy the link." >&2
elif [ -n "\${DISPLAY-}" ] && command -v xclip > /dev/null; then
  printf '%s' "$link" | xclip -selection clipboard > /dev/null || echo "xclip could not copy the link." >&2
fi
`;
}
