// What the extension's builder is given besides package.json: TypeScript is turned into JavaScript while it is bundled,
// so that a build needs the bundler alone. Types are checked by `jlpm types`.
module.exports = {
  resolve: { extensions: ['.tsx', '.ts', '.js'] },
  module: {
    rules: [
      {
        test: /\.tsx?$/,
        loader: 'builtin:swc-loader',
        options: {
          jsc: {
            parser: { syntax: 'typescript', tsx: true },
            transform: { react: { runtime: 'automatic' } },
            target: 'es2022'
          }
        },
        type: 'javascript/auto'
      }
    ]
  }
};
