import { createServer } from 'node:https';
import { listen } from '@echodrop/testkit/servers/listen';

/** The self-signed certificate of other.example, valid until 2126. */
export const otherExampleCertificate = `
-----BEGIN CERTIFICATE-----
MIIBoTCCAUegAwIBAgIUQ8f81Y3UYSade6XLI8+nHlVhahswCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNb3RoZXIuZXhhbXBsZTAgFw0yNjExMjExNTAxMzVaGA8yMTI2
MTAyODE1MDEzNVowGDEWMBQGA1UEAwwNb3RoZXIuZXhhbXBsZTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABOUazXarA4LlkmBrB1RliTHdhKm3dP7zpco/i1bJRicf
pwvbg81xdxwYjEszAwPUA9ptRk/aTJGeUz6Eu7yXqAKjbTBrMB0GA1UdDgQWBBQv
rz9feLmdOVxhsueMGYoGhG+IfzAfBgNVHSMEGDAWgBQvrz9feLmdOVxhsueMGYoG
hG+IfzAPBgNVHRMBAf8EBTADAQH/MBgGA1UdEQQRMA+CDW90aGVyLmV4YW1wbGUw
CgYIKoZIzj0EAwIDSAAwRQIhAK3mHWGk7FChgmpsMyM2zEKq1TNYcKYObKC0yHQR
lJR5AiAJUUqGSQe2k0ZsKXKOdYKpIYYUqZqdwDsnbJFFl9GN8A==
-----END CERTIFICATE-----
`;

// It protects nothing.
const otherExampleKey = `
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgonH3Zz9oa3hkuZ0q
3ksI8AFuT2IJlPXEpezgRBAO1rChRANCAATlGs12qwOC5ZJgawdUZYkx3YSpt3T+
86XKP4tWyUYnH6cL24PNcXccGIxLMwMD1APabUZP2kyRnlM+hLu8l6gC
-----END PRIVATE KEY-----
`;

/** An identity provider on loopback with the certificate of other.example, which refuses every user. @returns its address */
export async function startTlsStandIn(): Promise<AsyncDisposable & { readonly address: string }> {
  const server = createServer({ cert: otherExampleCertificate, key: otherExampleKey }, (_request, response) => {
    response.writeHead(401).end();
  });
  server.on('tlsClientError', () => {});
  const listening = await listen(server);
  return { ...listening, address: listening.origin.replace('http:', 'https:') };
}
