/** A value on the wire: a number, or the bytes of a text, a message or a fixed-size number. */
type WireValue = bigint | Buffer;

/** The fields of a Protocol Buffers message by their numbers, without a schema (protobuf.dev/programming-guides/encoding). */
export class ProtobufMessage {
  readonly #fields = new Map<number, WireValue[]>();

  constructor(bytes: Buffer) {
    let at = 0;
    const varint = (): bigint => {
      for (let value = 0n, shift = 0n; ; shift += 7n) {
        const byte = bytes.readUInt8(at);
        at += 1;
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
    };
    const take = (length: number): Buffer => {
      at += length;
      return bytes.subarray(at - length, at);
    };
    while (at < bytes.length) {
      const tag = Number(varint());
      const type = tag & 7;
      const value = type === 0 ? varint() : take(type === 1 ? 8 : type === 5 ? 4 : Number(varint()));
      this.#fields.set(tag >> 3, [...(this.#fields.get(tag >> 3) ?? []), value]);
    }
  }

  messages(number: number): ProtobufMessage[] {
    return this.#all(number).map((bytes) => new ProtobufMessage(bytes));
  }

  bytes(number: number): Buffer | undefined {
    return this.#all(number).at(-1);
  }

  text(number: number): string | undefined {
    return this.bytes(number)?.toString('utf8');
  }

  /** A number of type int64 or int32. */
  number(number: number): number | undefined {
    const value = this.#fields.get(number)?.at(-1);
    return typeof value === 'bigint' ? Number(BigInt.asIntN(64, value)) : undefined;
  }

  #all(number: number): Buffer[] {
    return (this.#fields.get(number) ?? []).filter((value) => typeof value !== 'bigint');
  }
}
