/**
 * How a provider software responds to a verification. Fields are from its documentation or source, without those that neither name
 * nor number anything. Values are made up, and ids are numbers or strings as that software sends them.
 */
export interface ProviderResponses {
  /** Its profile in IDENTITY_PROVIDERS. */
  readonly profile: string;
  readonly scheme: 'OAuth' | 'Bearer';
  readonly path: string;
  /** The body of the 200 to correct credentials. */
  readonly accepted: string;
  readonly refused: ProviderRefusal;
  /** The user in `accepted`. */
  readonly subject: string;
  readonly screenName: string;
}

export interface ProviderRefusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

// developer.x.com, "GET account/verify_credentials" (API 1.1) and "Response codes": code 32 comes with a 401.
const x: ProviderResponses = {
  profile: 'oauth1',
  scheme: 'OAuth',
  path: '/1.1/account/verify_credentials.json',
  accepted: `
    { "id": 1059182745930317825, "id_str": "1059182745930317825", "name": "Xenia Example",
    "screen_name": "xenia", "status": {"id": 15232462000000000, "id_str": "15232462000000000",
    "in_reply_to_screen_name": "somebody", "in_reply_to_user_id": 7} }
  `,
  refused: { status: 401, body: '{"errors":[{"code":32,"message":"Could not authenticate you."}]}' },
  subject: '1059182745930317825',
  screenName: 'xenia',
};

// GNU social, lib/apiaction.php (twitterUserArray: a number, no id_str; the status without its user; clientError) and lib/apiauth.php.
const gnuSocial: ProviderResponses = {
  profile: 'oauth1',
  scheme: 'OAuth',
  path: '/api/account/verify_credentials.json',
  accepted: `
    { "id": 3, "name": "Gustav Example", "screen_name": "gustav", "status": {"id": 77,
    "in_reply_to_user_id": null, "in_reply_to_screen_name": null} }
  `,
  refused: {
    status: 401,
    body: '{"error":"Invalid signature","request":"\\/api\\/account\\/verify_credentials.json"}',
  },
  subject: '3',
  screenName: 'gustav',
};

// Friendica, src/Object/Api/Twitter/User.php without what src/Module/Api/Twitter/Account/VerifyCredentials.php takes away; error() of
// src/Module/Api/ApiResponse.php. Its own OAuth 1.0a server is gone since 2021.09 (CHANGELOG).
const friendicaLikeTwitter: ProviderResponses = {
  profile: 'oauth1',
  scheme: 'OAuth',
  path: '/api/account/verify_credentials.json',
  accepted: '{ "id": 43, "id_str": "43", "name": "Frida Example", "screen_name": "frida", "cid": 1, "pid": 43 }',
  refused: {
    status: 401,
    body: '{"error":"This API requires login","code":"401 Unauthorized","request":"api\\/account\\/verify_credentials.json"}',
  },
  subject: '43',
  screenName: 'frida',
};

const mastodonPath = '/api/v1/accounts/verify_credentials';

// Friendica, src/Object/Api/Mastodon/Account.php (a string with the number of its other API); Forbidden() of
// src/Factory/Api/Mastodon/Error.php, with 403 by src/Module/BaseApi.php.
const friendica: ProviderResponses = {
  profile: 'mastodon',
  scheme: 'Bearer',
  path: mastodonPath,
  accepted: '{ "id": "43", "username": "frida", "acct": "frida", "display_name": "Frida Example" }',
  refused: {
    status: 403,
    body: '{"error":"Token is not authorized with a valid user or is missing a required scope"}',
  },
  subject: '43',
  screenName: 'frida',
};

// docs.joinmastodon.org/methods/accounts, "Verify account credentials" (CredentialAccount: an Account, and `source`).
const mastodon: ProviderResponses = {
  profile: 'mastodon',
  scheme: 'Bearer',
  path: mastodonPath,
  accepted: `
    { "id": "109348237410294711", "username": "maren", "acct": "maren", "display_name": "Maren Example" }
  `,
  refused: { status: 401, body: '{"error":"The access token is invalid"}' },
  subject: '109348237410294711',
  screenName: 'maren',
};

// Pleroma and Akkoma, lib/pleroma/web/mastodon_api/views/account_view.ex; ids of 128 bits, "Flake IDs" in
// docs/development/API/differences_in_mastoapi_responses.md; the refusal is that of EnsureAuthenticatedPlug.
const pleroma: ProviderResponses = {
  profile: 'mastodon',
  scheme: 'Bearer',
  path: mastodonPath,
  accepted: `
    { "id": "AjnbIeL3kmD0YN6XGS", "username": "paula", "acct": "paula", "display_name": "Paula Example",
    "fqn": "paula@pleroma.example" }
  `,
  refused: { status: 403, body: '{"error":"Invalid credentials."}' },
  subject: 'AjnbIeL3kmD0YN6XGS',
  screenName: 'paula',
};

// OpenID Connect Core 1.0: sections 5.3.2 (the response) and 5.3.3 (the refusal, in a header alone).
const openIdConnect: ProviderResponses = {
  profile: 'oidc',
  scheme: 'Bearer',
  path: '/userinfo',
  accepted: `
    { "sub": "248289761001", "name": "Jane Doe", "given_name": "Jane", "family_name": "Doe",
    "preferred_username": "j.doe", "email": "janedoe@example.com" }
  `,
  refused: {
    status: 401,
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token", error_description="The Access Token expired"' },
    body: '',
  },
  subject: '248289761001',
  screenName: 'j.doe',
};

// WordPress REST API handbook, "Users" (context `view`), and lib/class-wp-rest-oauth1.php of the plugin WP-API/OAuth1.
const wordpress: ProviderResponses = {
  profile: 'wordpress',
  scheme: 'OAuth',
  path: '/wp-json/wp/v2/users/me',
  accepted: '{ "id": 3, "name": "Wanda Example", "slug": "wanda" }',
  refused: {
    status: 401,
    body: '{"code":"json_oauth1_signature_mismatch","message":"OAuth signature does not match","data":{"status":401}}',
  },
  subject: '3',
  screenName: 'wanda',
};

// Matrix specification, data/api/client-server/whoami.yaml.
const matrix: ProviderResponses = {
  profile: 'matrix',
  scheme: 'Bearer',
  path: '/_matrix/client/v3/account/whoami',
  accepted: '{ "user_id": "@max:matrix.example", "device_id": "ABC1234", "is_guest": false }',
  refused: { status: 401, body: '{"errcode":"M_UNKNOWN_TOKEN","error":"Unrecognised access token."}' },
  subject: '@max:matrix.example',
  screenName: '@max:matrix.example',
};

export const providerResponses = {
  x,
  gnuSocial,
  friendicaLikeTwitter,
  friendica,
  mastodon,
  pleroma,
  openIdConnect,
  wordpress,
  matrix,
} as const;

export type Software = keyof typeof providerResponses;
