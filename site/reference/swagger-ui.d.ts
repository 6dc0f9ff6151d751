/* The parts of Swagger UI that the API reference uses. */

declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** A function that makes an element of properties, or the name of an HTML element. */
  export type Component = string | ((properties: never) => object);

  export interface System {
    readonly React: {
      readonly createElement: (
        component: Component,
        properties: object | null,
        ...children: readonly (object | string)[]
      ) => object;
    };
  }

  export default function SwaggerUI(options: {
    readonly domNode: HTMLElement;
    /** An OpenAPI document. */
    readonly spec: object;
    readonly deepLinking: boolean;
    readonly defaultModelsExpandDepth: number;
    readonly displayRequestDuration: boolean;
    readonly tryItOutEnabled: boolean;
    readonly requestInterceptor: (request: object) => object;
    readonly plugins: readonly ((system: System) => object)[];
  }): void;
}
