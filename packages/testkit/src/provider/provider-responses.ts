import { friendica, mastodon, pleroma } from './mastodon-responses.ts';
import type { ProviderResponses } from './provider-response-types.ts';

// developer.x.com, "GET account/verify_credentials" (API 1.1) and "Response codes": code 32 comes with a 401.
const x: ProviderResponses = {
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
const gnuSocial: ProviderResponses = {
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
const friendicaLikeTwitter: ProviderResponses = {
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

// OpenID Connect Core 1.0: sections 5.3.2 (the response) and 5.3.3 (the refusal, in a header alone).
const openIdConnect: ProviderResponses = {
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
const wordpress: ProviderResponses = {
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
