import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { fetchBeginning } from './beginning.ts';
import { loadDescription } from './description.ts';
import { plugin } from './plugin.ts';

/* The API reference: Swagger UI, which shows /openapi.json. */

const domNode = document.getElementById('reference') as HTMLElement;
const dark = matchMedia('(prefers-color-scheme: dark)');

const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

try {
  SwaggerUI({
    domNode,
    spec: await loadDescription(),
    deepLinking: true,
    defaultModelsExpandDepth: -1, // the schemas are shown with the responses that have them
    displayRequestDuration: true,
    tryItOutEnabled: true,
    requestInterceptor: (request: object) => Object.assign(request, { userFetch: fetchBeginning }),
    plugins: [plugin],
  });
} catch (error) {
  domNode.textContent = `Cannot load the API reference: ${(error as Error).message}`;
}
