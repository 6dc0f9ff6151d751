import { checkDownload, checkParticipants } from './downloads.ts';
import { type Check, requireLibrary } from './expect.ts';
import { checkJoin } from './join.ts';

export const rChecks: Record<string, Check> = {
  'r/download_csv.R': checkDownload,
  'r/participants.R': checkParticipants,

  async 'r/read_data_table.R'(trial) {
    await requireLibrary(trial, 'data.table', 'library(data.table)');
    return checkJoin(trial, ['shortcode', 'version', 'platform']);
  },
};
