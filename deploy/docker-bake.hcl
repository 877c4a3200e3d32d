# What a release is built from (docs/why/releasing.md): SOURCE=https://... docker buildx bake -f deploy/docker-bake.hcl --push
# It needs a builder for several platforms (docker buildx create --use); on one machine, docker compose build builds the same for that machine.

variable "REGISTRY" {
  description = "Before each image's name, with a slash at its end; none: Docker Hub"
  default     = ""
}

variable "VERSION" {
  description = "The version of package.json"
  default     = "0.1.0"
}

variable "PROXY_VERSION" {
  description = "The proxy's own, which changes when deploy/proxy does"
  default     = "3"
}

variable "REVISION" {
  description = "The commit that is built"
  default     = ""
}

variable "SOURCE" {
  description = "Where the source is published, an address without a slash at its end"
  type        = string
  validation {
    condition     = can(regex("^https://.*[^/]$", SOURCE))
    error_message = "SOURCE must be the address where the source is published: https://..., without a slash at its end"
  }
}

group "default" {
  targets = ["service", "proxy"]
}

target "release" {
  platforms = ["linux/amd64", "linux/arm64"]
  attest    = ["type=provenance,mode=max", "type=sbom"]
  args      = { SOURCE = SOURCE }
}

target "service" {
  name       = name
  matrix     = { name = ["gateway", "site", "auth-verifier", "probe-worker", "rendition-worker", "sandbox-provider", "admin", "all"] }
  inherits   = ["release"]
  context    = "."
  dockerfile = "deploy/Dockerfile"
  args       = { SERVICE = name, VERSION = VERSION, REVISION = REVISION }
  tags       = ["${REGISTRY}echodrop/${name}:${VERSION}"]
}

target "proxy" {
  inherits = ["release"]
  context  = "deploy/proxy"
  args     = { VERSION = PROXY_VERSION }
  tags     = ["${REGISTRY}echodrop/proxy:${PROXY_VERSION}"]
}
