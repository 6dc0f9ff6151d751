import { withConnection } from '../connection.ts';
import { explainRole, setWorkerPassword, WORKER_ROLE } from '../worker-role.ts';

/** How the SQL gateway logs in to the database. */
export interface Login {
  /** `postgres://` URL, with the password. */
  readonly url: string;
  readonly user: string;
}

/**
 * Chooses the login with which the Worker's statements run. On the embedded server it is the Worker's role, which gets a new
 * password. On a database of your own the role keeps its password, and the login is the user of DATABASE_URL, who has to use SET ROLE.
 *
 * @throws UserError if there is no such role, or the user of DATABASE_URL may not act as it
 */
export async function chooseLogin(url: string, { isEmbedded }: { isEmbedded: boolean }): Promise<Login> {
  return withConnection(url, async (client) => {
    if (isEmbedded) return { url: (await setWorkerPassword(client, url)).href, user: WORKER_ROLE };
    const { rows } = await client.query<{ name: string }>('select quote_ident(current_user) as name');
    const user = rows[0]?.name ?? '';
    await client.query(`set role ${WORKER_ROLE}`).catch((cause: unknown) => {
      throw explainRole(
        cause,
        `${user} may not act as the Worker's role, which another user of this server created. ` +
          `As that user, or a superuser: GRANT ${WORKER_ROLE} TO ${user};`,
      );
    });
    return { url, user };
  });
}
