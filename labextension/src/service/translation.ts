/** Domain of all the words that this extension shows: `translator.load(TRANSLATION_DOMAIN)`. */
export const TRANSLATION_DOMAIN = 'svc_jupyter';

/** Prefix of the identifiers of all plugins and of the settings. */
export const EXTENSION_ID = 'svc-jupyter-labextension';
