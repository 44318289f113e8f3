// Pages that a server has embedded: their files over HTTP, with the headers that confine them, and what the scripts and
// styles of all pages share. Not here: what a page shows.

import Crypto
import Essentials
package import KVStoreWire
import NIOCore
package import NIOHTTP1

/// The files of a web page, embedded in the program.
package struct WebPage: Sendable {
    private let files: [String: PageFile]

    /// - Parameters:
    ///   - base: the path of the files, with a slash at its end.
    ///   - indexes: paths of the document `page.html`.
    ///   - files: contents by name; those that all pages share are added. One that is called `sw.js` is a service
    ///     worker for all of the server, at `/sw.js`: it begins with the constants `version`, of all files, and
    ///     `files`, their paths.
    ///   - entry: the script that the document runs, which is sent with all modules that it imports; nil if they are
    ///     asked for one by one. Its style is `page.css`, with that of all pages.
    package init(at base: String, indexes: [String], files: [String: [UInt8]], entry: String? = nil) {
        let shared = [
            "base.css": PackageResources.base_css, "dom.js": PackageResources.dom_js,
            "http.js": PackageResources.http_js, "values.js": PackageResources.values_js,
        ]
        var byPath: [String: PageFile] = [:]
        var files = files.merging(shared, uniquingKeysWith: { own, _ in own })
        if let entry {
            files[entry] = PageBundle.script(entry, files)
            files[Self.style] = PackageResources.base_css + (files[Self.style] ?? [])
        }
        for (name, bytes) in files {
            if name == Self.index {
                for path in indexes { byPath[path] = PageFile(path, name, bytes) }
            } else if name != Self.worker {
                byPath[base + name] = PageFile(base + name, name, bytes)
            }
        }
        if let worker = files[Self.worker] {
            let script = entry.map { base + $0 }
            let paths = byPath.keys.filter { script == nil || !$0.hasSuffix(".js") || $0 == script }.sorted()
            let version = PageFile.digest(paths.flatMap { byPath[$0]?.tag.utf8.map { $0 } ?? [] })
            let list = paths.map { "'\($0)'" }.joined(separator: ", ")
            let start = "const version = '\(version)';\nconst files = [\(list)];\n"
            let path = "/" + Self.worker
            byPath[path] = PageFile(path, Self.worker, Array(start.utf8) + worker)
        }
        self.files = byPath
    }

    private static let index = "page.html"
    private static let style = "page.css"
    private static let worker = "sw.js"

    /// - Parameter path: without the query.
    package func file(at path: Substring) -> PageFile? { files[String(path)] }
}

/// A file of a page.
package struct PageFile: AdditionalResource, Equatable {
    package let template: String
    private let type: String
    private let bytes: ByteBuffer
    /// Nil where compressing saves nothing.
    private let deflated: ByteBuffer?
    /// An entity tag (RFC 9110, section 8.8.3), of the bytes as they are.
    let tag: String

    /// - Parameter canCompress: false for what is built for each request.
    package init(_ path: String, _ name: String, _ bytes: [UInt8], canCompress: Bool = true) {
        template = path
        self.bytes = ByteBuffer(bytes: bytes)
        let deflated = canCompress && !name.hasSuffix(".png") ? Zlib.deflate(bytes) : nil
        self.deflated = deflated.flatMap { $0.count < bytes.count ? ByteBuffer(bytes: $0) : nil }
        tag = "\"" + Self.digest(bytes) + "\""
        type =
            switch name.split(separator: ".").last {
            case "html": "text/html; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            case "js": "text/javascript; charset=utf-8"
            case "svg": "image/svg+xml"
            case "png": "image/png"
            case "webmanifest": "application/manifest+json"
            default: "application/octet-stream"
            }
    }

    static func digest(_ bytes: [UInt8]) -> Substring {
        Data(SHA256.hash(data: bytes)).base64URL.prefix(16)
    }

    package var methods: [HTTPMethod] { [.GET, .HEAD] }
    package var needsToken: Bool { false }
    package var bodyByteLimit: Int? { nil }

    package func respond(
        to request: Request, by _: StoreServer, on _: WatcherRegistry, _ complete: @escaping Completion<Response>
    ) throws(Problem) {
        complete(.success(.answer(answer(to: request.fields))))
    }

    /// 304 without a body if the client has the file.
    package func answer(to request: RequestFields) -> Answer {
        let compressed = request.acceptsDeflate ? deflated : nil
        let tag = compressed == nil ? tag : EntityTag.ofDeflated(tag)
        let isKept = request.ifNoneMatch.map { EntityTag.list($0, contains: tag) } ?? false
        var answer = isKept ? .notModified() : Answer(type, compressed ?? bytes)
        answer.isRevalidated = true
        answer.fields = Self.fields + [("ETag", tag), ("Vary", "Accept-Encoding")]
        if compressed != nil, !isKept { answer.fields.append(("Content-Encoding", "deflate")) }
        return answer
    }

    /// The page loads its own files and connects to its own server, and text cannot become markup or script. The policy
    /// `worker` names the service worker.
    private static let fields = [
        (
            name: "Content-Security-Policy",
            value: [
                "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
                "connect-src 'self'", "manifest-src 'self'", "worker-src 'self'",
                "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
                "require-trusted-types-for 'script'", "trusted-types worker",
            ].joined(separator: "; ")
        ),
        (name: "Referrer-Policy", value: "no-referrer"),
        (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
        (name: "Cross-Origin-Opener-Policy", value: "same-origin"),
    ]
}
