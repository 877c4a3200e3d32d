import type { RequestHandler } from 'express';
import { sandboxProfiles } from '../profiles/profiles.ts';
import { addressOf } from '../request-address.ts';

/** The metadata of OpenID Connect Discovery 1.0 and RFC 8414, at the requested host. */
export const sendMetadata: RequestHandler = (_request, response) => {
  const { origin } = addressOf(response);
  response.json({
    issuer: origin,
    authorization_endpoint: `${origin}/oauth/authorize`,
    token_endpoint: `${origin}/oauth/token`,
    revocation_endpoint: `${origin}/oauth/revoke`,
    app_registration_endpoint: `${origin}/api/v1/apps`,
    userinfo_endpoint: origin + sandboxProfiles.oidc.path,
    jwks_uri: `${origin}/jwks`,
    scopes_supported: ['openid', 'profile', 'read', 'read:accounts'],
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'client_credentials'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_post', 'client_secret_basic'],
    authorization_response_iss_parameter_supported: true,
  });
};
