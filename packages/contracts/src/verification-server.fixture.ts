import { createLog } from '@echodrop/service/log';
import { Secret } from '@echodrop/service/secret';
import { verificationServer } from './verification-server.ts';

// The verification server as a process of its own, for tests that freeze or kill it: <port> <secret>.
const [, , port, secret = ''] = process.argv;

verificationServer({
  secret: [new Secret(secret)],
  providers: ['https://identity.example/verify.json'],
  verify: async () => ({ outcome: 'refused' }),
  forget: async () => {},
  log: createLog('auth-verifier', 'silent'),
}).listen(Number(port), '127.0.0.1');
