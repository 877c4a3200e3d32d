/** A process with an identity provider that checks signatures only. It sends its parent the value of IDENTITY_PROVIDERS. */

import { startStandInProvider } from '@echodrop/testkit/provider/stand-in-provider';
import { sandbox } from '@echodrop/testkit/start-stack';
import { providerAddress } from '../upload-request.ts';

process.on('disconnect', () => process.exit());
const response = { id: sandbox.userId, id_str: `${sandbox.userId}`, screen_name: sandbox.screenName };
const { setting } = await startStandInProvider({ ...sandbox, advertised: [providerAddress], response });
process.send?.(setting);
