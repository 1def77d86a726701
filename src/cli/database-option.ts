/** Where the server's data is, for `serve` and for the commands that work beside it. */
import { Option } from 'commander';

export function databaseOption(): Option {
  return new Option('-d, --database <where>', 'a data folder, or a postgres:// address')
    .default('edgeplan-data')
    .env('EDGEPLAN_DATABASE');
}
