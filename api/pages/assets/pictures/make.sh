#!/bin/sh
# Draws the pictures of badge.png, one for each environment. It needs Chromium and DejaVu Sans; other
# versions of them may draw other bytes, so the pictures are committed and not drawn at run time.
set -eu
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
SIZE=192

CHECK='<path d="M66 98l20 20 40-44"/>'

# Names of files follow the title and the environment. The ring of the sandbox is striped.
draw() {
  title=$1 color=$2 shape=$3 environment=$4 label=$5 ring=$6
  cat > "$folder/page.html" << PAGE
<!doctype html><style>html, body { margin: 0; overflow: hidden }</style>
<svg xmlns="http://www.w3.org/2000/svg" width="$SIZE" height="$SIZE" viewBox="0 0 192 192" text-anchor="middle" font-family="DejaVu Sans" fill="#fff">
<pattern id="stripes" width="12" height="12" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path fill="#ffe9a8" d="M0 0H12V12H0z"/><path fill="#ffd24d" d="M0 0H6V12H0z"/></pattern>
<circle cx="96" cy="96" r="94" fill="$ring"/><circle cx="96" cy="96" r="82" fill="$color"/>
<text x="96" y="52" font-size="17">$label</text>
<g fill="none" stroke="#fff" stroke-width="9" stroke-linecap="round" stroke-linejoin="round">$shape</g>
<text x="96" y="148" font-size="24" font-weight="bold">$title</text>
</svg>
PAGE
  "${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=1 \
    --default-background-color=00000000 --window-size="$SIZE,$SIZE" --screenshot="$PWD/$title-$environment.png" \
    "file://$folder/page.html" 2> "$folder/log" || { cat "$folder/log" >&2; exit 1; }
}

GREEN=#1a7f37
for environment in production sandbox; do
  label=forecasts ring=#24292f
  if [ "$environment" = sandbox ]; then label=sandbox ring='url(#stripes)'; fi
  draw certified "$GREEN" "$CHECK" "$environment" "$label" "$ring"
done
