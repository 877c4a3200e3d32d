/**
 * The naive peer: what one would write first. It holds each upload in memory, reads its size with sharp, and stores it with one call of
 * minio's client. It knows no users and writes no record.
 */
import { randomUUID } from 'node:crypto';
import express from 'express';
import { Client } from 'minio';
import multer from 'multer';
import sharp from 'sharp';

const { PORT, S3_ENDPOINT = '', S3_BUCKET = '', S3_ACCESS_KEY = '', S3_SECRET_KEY = '' } = process.env;
const { hostname, port } = new URL(S3_ENDPOINT);
const store = new Client({
  endPoint: hostname,
  port: Number(port),
  useSSL: false,
  region: 'us-east-1',
  accessKey: S3_ACCESS_KEY,
  secretKey: S3_SECRET_KEY,
});
const form = multer({ storage: multer.memoryStorage() });

express()
  .post('/upload', form.single('media'), async (request, response) => {
    const { buffer, mimetype, size } = request.file ?? { buffer: Buffer.alloc(0), mimetype: '', size: 0 };
    // sharp reads no video.
    const { width, height, format } = mimetype.startsWith('video/')
      ? { format: mimetype.slice('video/'.length) }
      : await sharp(buffer).metadata();
    const id = randomUUID();
    await store.putObject(S3_BUCKET, `media/${id}`, buffer, size, { 'Content-Type': mimetype });
    response.json({ id, width, height, size, type: format });
  })
  .listen(Number(PORT), '127.0.0.1');
