// What pages use of the sign-in of the npm package.
export { UnreadableResponse } from '@echodrop/client/client-errors';
export * from '@echodrop/client/sign-in/authorization-flow';
