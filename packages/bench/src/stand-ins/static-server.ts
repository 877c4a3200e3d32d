/** A peer of reading: express.static with the files of one folder. */
import express from 'express';

const { PORT, FILES = '' } = process.env;
express().use(express.static(FILES)).listen(Number(PORT), '127.0.0.1');
