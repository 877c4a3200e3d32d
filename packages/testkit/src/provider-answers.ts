/**
 * How a software answers the check of a user's credentials: the fields are those that its documentation or its source shows, the
 * values are made up, and ids are numbers or texts as that software sends them.
 */
export interface ProviderAnswers {
  /** The word for it in IDENTITY_PROVIDERS. */
  readonly profile: string;
  readonly scheme: 'OAuth' | 'Bearer';
  readonly path: string;
  /** The 200 to the right credentials, as JSON text. */
  readonly accepted: string;
  readonly refused: ProviderRefusal;
  /** Whom `accepted` names. */
  readonly subject: string;
  readonly screenName: string;
}

export interface ProviderRefusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

// developer.x.com, "GET account/verify_credentials" (API 1.1) and "Response codes": code 32 comes with a 401.
const x: ProviderAnswers = {
  profile: 'oauth1',
  scheme: 'OAuth',
  path: '/1.1/account/verify_credentials.json',
  accepted: `{
    "contributors_enabled": true, "created_at": "Sat May 09 17:58:22 +0000 2009", "default_profile": false,
    "default_profile_image": false, "description": "Photos of boats.", "favourites_count": 588, "follow_request_sent": null,
    "followers_count": 10625, "following": null, "friends_count": 1181, "geo_enabled": true,
    "id": 1059182745930317825, "id_str": "1059182745930317825", "is_translator": false, "lang": "en", "listed_count": 190,
    "location": "Kiel", "name": "Xenia Example", "notifications": null, "profile_background_color": "1A1B1F",
    "profile_background_tile": true, "profile_image_url_https": "https://images.example/xenia_normal.jpg",
    "profile_link_color": "2FC2EF", "profile_use_background_image": true, "protected": false, "screen_name": "xenia",
    "show_all_inline_media": true, "statuses_count": 2609, "time_zone": "Pacific Time (US & Canada)",
    "url": null, "utc_offset": -28800, "verified": false,
    "status": {
      "created_at": "Tue Jun 01 17:12:00 +0000 2010", "favorited": false, "id": 15232462000000000, "id_str": "15232462000000000",
      "in_reply_to_screen_name": "somebody", "in_reply_to_user_id": 7, "retweeted": false, "text": "Ahoy", "truncated": false
    }
  }`,
  refused: { status: 401, body: '{"errors":[{"code":32,"message":"Could not authenticate you."}]}' },
  subject: '1059182745930317825',
  screenName: 'xenia',
};

// GNU social, lib/apiaction.php (twitterUserArray: a number, no id_str; the status without its user; clientError) and lib/apiauth.php.
const gnuSocial: ProviderAnswers = {
  profile: 'oauth1',
  scheme: 'OAuth',
  path: '/api/account/verify_credentials.json',
  accepted: `{
    "id": 3, "name": "Gustav Example", "screen_name": "gustav", "location": null, "description": "Photos of gnus.",
    "profile_image_url": "https://gnusocial.example/avatar/3-48.png",
    "profile_image_url_https": "https://gnusocial.example/avatar/3-48.png",
    "profile_image_url_profile_size": "https://gnusocial.example/avatar/3-96.png",
    "profile_image_url_original": "https://gnusocial.example/avatar/3-original.png", "groups_count": 2, "linkcolor": false,
    "backgroundcolor": false, "url": null, "protected": false, "followers_count": 12, "friends_count": 9,
    "created_at": "Mon Nov 02 10:00:00 +0000 2015", "utc_offset": "0", "time_zone": "UTC", "statuses_count": 41,
    "following": false, "statusnet_blocking": false, "notifications": false,
    "status": {
      "text": "Moo", "truncated": false, "created_at": "Tue Nov 03 10:00:00 +0000 2015", "in_reply_to_status_id": null,
      "uri": "tag:gnusocial.example,2015-11-03:noticeId=77:objectType=note", "source": "web", "id": 77,
      "in_reply_to_user_id": null, "in_reply_to_screen_name": null, "geo": null, "statusnet_html": "Moo",
      "statusnet_conversation_id": 70
    },
    "statusnet_profile_url": "https://gnusocial.example/gustav"
  }`,
  refused: {
    status: 401,
    body: '{"error":"Invalid signature","request":"\\/api\\/account\\/verify_credentials.json"}',
  },
  subject: '3',
  screenName: 'gustav',
};

// Friendica, src/Object/Api/Twitter/User.php without what src/Module/Api/Twitter/Account/VerifyCredentials.php takes away; error() of
// src/Module/Api/ApiResponse.php. Its own OAuth 1.0a server is gone since 2021.09 (CHANGELOG).
const friendicaLikeTwitter: ProviderAnswers = {
  profile: 'oauth1',
  scheme: 'OAuth',
  path: '/api/account/verify_credentials.json',
  accepted: `{
    "id": 43, "id_str": "43", "name": "Frida Example", "screen_name": "frida", "location": "DFRN", "derived": [],
    "url": "https://friendica.example/profile/frida", "entities": { "url": { "urls": [] }, "description": { "urls": [] } },
    "description": "", "protected": false, "followers_count": 4, "friends_count": 5, "listed_count": 0, "favourites_count": 0,
    "statuses_count": 17, "created_at": "Sun Jan 03 10:00:00 +0000 2021",
    "profile_banner_url": "https://friendica.example/photo/header/1", "default_profile": false, "default_profile_image": false,
    "profile_image_url_https": "https://friendica.example/photo/contact/48/1",
    "profile_image_url": "https://friendica.example/photo/contact/48/1",
    "profile_image_url_profile_size": "https://friendica.example/photo/contact/80/1",
    "profile_image_url_large": "https://friendica.example/photo/contact/1024/1", "utc_offset": 0, "time_zone": "UTC",
    "geo_enabled": false, "lang": null, "contributors_enabled": false, "is_translator": false, "is_translation_enabled": false,
    "following": false, "follow_request_sent": false, "statusnet_blocking": false, "notifications": false, "cid": 1, "pid": 43,
    "statusnet_profile_url": "https://friendica.example/profile/frida"
  }`,
  refused: {
    status: 401,
    body: '{"error":"This API requires login","code":"401 Unauthorized","request":"api\\/account\\/verify_credentials.json"}',
  },
  subject: '43',
  screenName: 'frida',
};

const mastodonPath = '/api/v1/accounts/verify_credentials';

// Friendica, src/Object/Api/Mastodon/Account.php (a text; the same number as in its other API); Forbidden() of
// src/Factory/Api/Mastodon/Error.php, with 403 by src/Module/BaseApi.php.
const friendica: ProviderAnswers = {
  profile: 'mastodon',
  scheme: 'Bearer',
  path: mastodonPath,
  accepted: `{
    "id": "43", "username": "frida", "acct": "frida", "display_name": "Frida Example", "locked": false, "bot": false,
    "discoverable": true, "group": false, "created_at": "2021-01-03T10:00:00.000Z", "note": "",
    "url": "https://friendica.example/profile/frida", "avatar": "https://friendica.example/photo/contact/320/1",
    "avatar_static": "https://friendica.example/photo/contact/320/1?static=1",
    "header": "https://friendica.example/photo/header/1", "header_static": "https://friendica.example/photo/header/1?static=1",
    "followers_count": 4, "following_count": 5, "statuses_count": 17, "last_status_at": null, "emojis": [], "fields": []
  }`,
  refused: {
    status: 403,
    body: '{"error":"Token is not authorized with a valid user or is missing a required scope"}',
  },
  subject: '43',
  screenName: 'frida',
};

// docs.joinmastodon.org/methods/accounts, "Verify account credentials" (CredentialAccount: an Account, and `source`).
const mastodon: ProviderAnswers = {
  profile: 'mastodon',
  scheme: 'Bearer',
  path: mastodonPath,
  accepted: `{
    "id": "109348237410294711", "username": "maren", "acct": "maren", "display_name": "Maren Example", "locked": false,
    "bot": false, "created_at": "2016-11-24T10:02:12.085Z", "note": "<p>Photos of mammoths.</p>",
    "url": "https://mastodon.example/@maren", "avatar": "https://files.mastodon.example/avatars/1.png",
    "avatar_static": "https://files.mastodon.example/avatars/1.png", "header": "https://files.mastodon.example/headers/1.jpg",
    "header_static": "https://files.mastodon.example/headers/1.jpg", "followers_count": 821, "following_count": 178,
    "statuses_count": 33120, "last_status_at": "2019-11-24T15:49:42.251Z",
    "source": {
      "privacy": "public", "sensitive": false, "language": "", "note": "Photos of mammoths.",
      "fields": [{ "name": "Website", "value": "https://maren.example", "verified_at": null }], "follow_requests_count": 0
    },
    "emojis": [{
      "shortcode": "mammoth", "url": "https://files.mastodon.example/emojis/1.png",
      "static_url": "https://files.mastodon.example/emojis/1.png", "visible_in_picker": true
    }],
    "fields": [{ "name": "Website", "value": "https://maren.example", "verified_at": "2019-08-29T04:14:55.571+00:00" }]
  }`,
  refused: { status: 401, body: '{"error":"The access token is invalid"}' },
  subject: '109348237410294711',
  screenName: 'maren',
};

// Pleroma and Akkoma, lib/pleroma/web/mastodon_api/views/account_view.ex; ids of 128 bits, "Flake IDs" in
// docs/development/API/differences_in_mastoapi_responses.md; the refusal is that of EnsureAuthenticatedPlug.
const pleroma: ProviderAnswers = {
  profile: 'mastodon',
  scheme: 'Bearer',
  path: mastodonPath,
  accepted: `{
    "id": "AjnbIeL3kmD0YN6XGS", "username": "paula", "acct": "paula", "display_name": "Paula Example", "locked": false,
    "created_at": "2022-05-11T08:00:00.000Z", "followers_count": 3, "following_count": 8, "statuses_count": 95, "note": "",
    "url": "https://pleroma.example/users/paula", "avatar": "https://pleroma.example/images/avi.png",
    "avatar_static": "https://pleroma.example/images/avi.png", "header": "https://pleroma.example/images/banner.png",
    "header_static": "https://pleroma.example/images/banner.png", "emojis": [], "fields": [], "bot": false,
    "source": {
      "note": "", "sensitive": false, "fields": [], "privacy": "public",
      "pleroma": { "discoverable": false, "actor_type": "Person", "show_role": true, "no_rich_text": false }
    },
    "last_status_at": "2026-11-01", "fqn": "paula@pleroma.example", "follow_requests_count": 0,
    "pleroma": {
      "ap_id": "https://pleroma.example/users/paula", "also_known_as": [], "is_confirmed": true, "tags": [],
      "hide_followers": false, "hide_follows": false, "hide_favorites": true, "relationship": {}, "background_image": null,
      "is_admin": false, "is_moderator": false, "allow_following_move": true, "unread_conversation_count": 0
    }
  }`,
  refused: { status: 403, body: '{"error":"Invalid credentials."}' },
  subject: 'AjnbIeL3kmD0YN6XGS',
  screenName: 'paula',
};

// OpenID Connect Core 1.0: sections 5.3.2 (the answer) and 5.3.3 (the refusal, in a header alone).
const openIdConnect: ProviderAnswers = {
  profile: 'oidc',
  scheme: 'Bearer',
  path: '/userinfo',
  accepted: `{
    "sub": "248289761001", "name": "Jane Doe", "given_name": "Jane", "family_name": "Doe", "preferred_username": "j.doe",
    "email": "janedoe@example.com", "picture": "http://example.com/janedoe/me.jpg"
  }`,
  refused: {
    status: 401,
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token", error_description="The Access Token expired"' },
    body: '',
  },
  subject: '248289761001',
  screenName: 'j.doe',
};

// WordPress REST API handbook, "Users" (context `view`), and lib/class-wp-rest-oauth1.php of the plugin WP-API/OAuth1.
const wordpress: ProviderAnswers = {
  profile: 'wordpress',
  scheme: 'OAuth',
  path: '/wp-json/wp/v2/users/me',
  accepted: `{
    "id": 3, "name": "Wanda Example", "url": "", "description": "", "link": "https://wordpress.example/author/wanda/",
    "slug": "wanda", "avatar_urls": { "24": "https://avatars.example/w?s=24", "48": "https://avatars.example/w?s=48" }, "meta": [],
    "_links": {
      "self": [{ "href": "https://wordpress.example/wp-json/wp/v2/users/3" }],
      "collection": [{ "href": "https://wordpress.example/wp-json/wp/v2/users" }]
    }
  }`,
  refused: {
    status: 401,
    body: '{"code":"json_oauth1_signature_mismatch","message":"OAuth signature does not match","data":{"status":401}}',
  },
  subject: '3',
  screenName: 'wanda',
};

// Matrix specification, data/api/client-server/whoami.yaml.
const matrix: ProviderAnswers = {
  profile: 'matrix',
  scheme: 'Bearer',
  path: '/_matrix/client/v3/account/whoami',
  accepted: '{ "user_id": "@max:matrix.example", "device_id": "ABC1234", "is_guest": false }',
  refused: { status: 401, body: '{"errcode":"M_UNKNOWN_TOKEN","error":"Unrecognised access token."}' },
  subject: '@max:matrix.example',
  screenName: '@max:matrix.example',
};

export const providerAnswers = {
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

export type Software = keyof typeof providerAnswers;
