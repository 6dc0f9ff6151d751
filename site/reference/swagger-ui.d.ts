declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** Shows an OpenAPI document: https://swagger.io/docs/open-source-tools/swagger-ui/. */
  export default function SwaggerUI(options: object): void;
}
