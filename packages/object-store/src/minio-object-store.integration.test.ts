import { describeWithMinio } from '@echodrop/testkit/describe-with-minio';
import { minioStore } from './minio-store.fixture.ts';
import { objectStoreContract } from './object-store.contract.ts';

describeWithMinio('the store on MinIO', {}, (start) => {
  objectStoreContract(async () => {
    const minio = await start();
    const store = minioStore(minio);
    const other = minioStore(minio);
    return {
      store,
      other,
      async [Symbol.asyncDispose]() {
        await Promise.all([store, other, minio].map((each) => each[Symbol.asyncDispose]()));
      },
    };
  });
});
