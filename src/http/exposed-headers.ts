/** The response headers that pages of other origins can read, besides those that they always can. */
export const EXPOSED_HEADERS = [
  'Allow',
  'Content-Disposition',
  'ETag',
  'Link',
  'Preference-Applied',
  'Retry-After',
  'Server-Timing',
  'WWW-Authenticate',
  'X-Content-Type-Options',
  'X-Error-Code',
  'X-Ignored-Parameters',
  'X-Request-Id',
  'X-Total-Count',
];
