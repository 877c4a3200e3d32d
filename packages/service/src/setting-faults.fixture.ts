import { InvalidSettings } from './env.ts';

/** The faults of the settings that `read` reads; none if they are valid. @throws other errors of `read` */
export function settingFaults(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof InvalidSettings) return error.faults;
    throw error;
  }
}
