import Essentials

/// Files of a page in one, so that a browser asks once: a round trip to a phone takes up to half a second.
///
/// Modules become functions that run once. Of the syntax of modules they use what this understands: an import of names
/// from one file in a line of its own, `import('./name.js')`, and `export` before a declaration. They import each other
/// in no circle, and export no variables, which would be copied: that stops the program.
enum PageBundle {
    /// A script that runs `entry` with the modules that it imports.
    ///
    /// - Parameter files: contents by name.
    static func script(_ entry: String, _ files: [String: [UInt8]]) -> [UInt8] {
        var parts: [String] = []
        var done: Set<String> = []
        func add(_ name: String) {
            guard done.insert(name).inserted, let bytes = files[name] else { return }
            let module = Module(name, String(decoding: bytes, as: UTF8.self))
            module.imported.forEach(add)
            parts.append(module.function)
        }
        add(entry)
        let once = "const once = (run) => { let found; return () => found ??= run(); };\n"
        return Array((once + parts.joined() + Module.identifier(entry) + "();\n").utf8)
    }

    private struct Module {
        private(set) var imported: [String] = []
        private(set) var function = ""

        init(_ name: String, _ text: String) {
            var exported: [String] = []
            var body = ""
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.hasPrefix("import {"), let file = Self.file(in: line), let names = Self.names(in: line) {
                    imported.append(file)
                    body += "const \(names) = \(Self.identifier(file))();\n"
                } else if line.hasPrefix("import '"), let file = Self.file(in: line) {
                    imported.append(file)
                    body += "\(Self.identifier(file))();\n"
                } else if line.hasPrefix("export ") {
                    let declaration = line.dropFirst("export ".count)
                    precondition(!declaration.hasPrefix("let "), "\(name) exports a variable: \(line)")
                    exported += Self.declared(in: declaration)
                    body += declaration + "\n"
                } else if let range = line.firstRange(of: "import('./"),
                    let end = line[range.upperBound...].firstIndex(of: "'")
                {
                    let file = String(line[range.upperBound..<end])
                    imported.append(file)
                    body +=
                        line[..<range.lowerBound] + Self.identifier(file) + "("
                        + line[line.index(after: end)...] + "\n"
                } else if !line.hasPrefix("//") {
                    precondition(!line.hasPrefix("import "), "\(name) imports in another form: \(line)")
                    body += line + "\n"
                }
            }
            let isAsynchronous = body.split(separator: "\n").contains {
                $0.hasPrefix("await ") || $0.hasPrefix("if ") && $0.contains(") await ")
            }
            function =
                "const \(Self.identifier(name)) = once(\(isAsynchronous ? "async " : "")() => {\n"
                + body + "return { \(exported.joined(separator: ", ")) };\n});\n"
        }

        /// "page$js" for "page.js".
        static func identifier(_ name: String) -> String {
            String(name.map { $0.isLetter || $0.isNumber ? $0 : "$" })
        }

        /// "http.js" of "import { get } from './http.js';".
        private static func file(in line: Substring) -> String? {
            let parts = line.split(separator: "'")
            return parts.count > 1 ? parts[parts.count - 2].split(separator: "/").last.map(String.init) : nil
        }

        private static func names(in line: Substring) -> Substring? {
            guard let start = line.firstIndex(of: "{"), let end = line.lastIndex(of: "}") else { return nil }
            return line[start...end]
        }

        /// The names that a line declares: also the two of "const [a, b] = …".
        private static func declared(in line: Substring) -> [String] {
            let words = line.prefix { $0 != "=" && $0 != "(" }.split { " [],{};".contains($0) }.map(String.init)
            let keywords: Set = ["async", "const", "function", "function*", "class", "let"]
            let names = words.drop { keywords.contains($0) }
            return line.hasPrefix("class ") ? Array(names.prefix(1)) : Array(names)
        }
    }
}
