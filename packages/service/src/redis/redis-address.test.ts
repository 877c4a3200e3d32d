import { expect, test } from 'vitest';
import { InvalidRedisAddress, readRedisAddress } from './redis-address.ts';

const a = { host: 'a', port: 26379 };

test.each([
  ['redis://a', { kind: 'server', url: 'redis://a' }],
  ['rediss://user:p%40ss@a:6380/3', { kind: 'server', url: 'rediss://user:p%40ss@a:6380/3' }],
  ['redis+sentinel://a/mine', { kind: 'sentinel', hosts: [a], isTls: false, master: 'mine', db: 0 }],
  [
    'rediss+sentinel://:p%2Fw%3A%40%2C@a,b.example:5,[::1]:6/my-master.1/12',
    {
      kind: 'sentinel',
      hosts: [a, { host: 'b.example', port: 5 }, { host: '::1', port: 6 }],
      isTls: true,
      password: 'p/w:@,',
      master: 'my-master.1',
      db: 12,
    },
  ],
  ['redis+cluster://a', { kind: 'cluster', hosts: [{ host: 'a', port: 6379 }], isTls: false }],
  [
    'rediss+cluster://us%3Aer:pass@10.0.0.1:7000,10.0.0.2/',
    {
      kind: 'cluster',
      hosts: [
        { host: '10.0.0.1', port: 7000 },
        { host: '10.0.0.2', port: 6379 },
      ],
      isTls: true,
      username: 'us:er',
      password: 'pass',
    },
  ],
])('reads %s', (address, read) => {
  expect(readRedisAddress(address)).toEqual(read);
});

const hosts = /^must list hosts as host:\d+, separated by commas; user and password must be percent-encoded$/;

test.each([
  ['', /^must be a redis:\/\/ or rediss:\/\/ address/],
  ['http://hunter2', /^must be a/],
  ['redis+proxy://hunter2', /^must be a/],
  ['redis:hunter2', /^must be a/],
  ['redis://', /must name a host/],
  ['redis:///hunter2', /must name a host/],
  ['redis://hunter2:1,b:2', /must have one host/],
  ['redis://a/hunter2', /database number/],
  ['redis://a/3?db=99', /must not set db/],
  ['redis://a?keyPrefix=x', /REDIS_PREFIX/],
  ['redis://a#hunter2', /database number/],
  ['redis+sentinel://a:1,b:2', /must end with the master's name/],
  ['redis+sentinel://a:1/', /must end with the master's name/],
  ['redis+sentinel://a/mine/hunter2', /must end with the master's name/],
  ['redis+sentinel://a/mine/1/2', /must end with the master's name/],
  ['redis+cluster://a:1/1', /a cluster has no databases/],
  ['redis+cluster://', hosts],
  ['redis+cluster://a,', hosts],
  ['redis+cluster://a:0', hosts],
  ['redis+cluster://a:65536', hosts],
  ['redis+cluster://a b', hosts],
  ['redis+cluster://[hunter2]', hosts],
  ['redis+cluster://[:::]', hosts],
  ['redis+cluster://:hunter/2@a', hosts],
  ['redis+cluster://:hunter@2@a', hosts],
  ['redis+cluster://:hunter%2@a', /percent-encoded/],
  ['redis+cluster://user:hun:ter2@a', /percent-encoded/],
])('rejects %j without revealing it', (address, fault) => {
  const reading = () => readRedisAddress(address);
  expect(reading).toThrow(InvalidRedisAddress);
  expect(reading).toThrow(fault);
  expect(reading).not.toThrow(/hun|ter2/);
});
