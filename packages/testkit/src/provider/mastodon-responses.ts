import type { ProviderResponses } from './provider-response-types.ts';

const mastodonPath = '/api/v1/accounts/verify_credentials';

// Friendica, src/Object/Api/Mastodon/Account.php (a string with the number of its other API); Forbidden() of
// src/Factory/Api/Mastodon/Error.php, with 403 by src/Module/BaseApi.php.
export const friendica: ProviderResponses = {
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
export const mastodon: ProviderResponses = {
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
export const pleroma: ProviderResponses = {
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
