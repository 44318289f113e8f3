import NIOCore
import KVStoreServer

/// A file of the emulator's web page, embedded in the program.
enum EmulatorPage: String, CaseIterable {
    case html = "page.html"
    case style = "page.css"
    case icon = "icon.svg"
    case api = "api.js"
    case controls = "controls.js"
    case devices = "devices.js"
    case dom = "dom.js"
    case events = "events.js"
    case history = "history.js"
    case keys = "keys.js"
    case page = "page.js"
    case record = "record.js"
    case values = "values.js"

    /// - Parameter path: without the query.
    init?(path: Substring) {
        if path == "/" || path == "/emulator" {
            self = .html
            return
        }
        let start = "/emulator/"
        guard path.hasPrefix(start), path != start + Self.html.rawValue else { return nil }
        self.init(rawValue: String(path.dropFirst(start.count)))
    }

    var template: String { self == .html ? "/emulator" : "/emulator/\(rawValue)" }

    var answer: Answer {
        var answer = Answer(type, ByteBuffer(bytes: bytes))
        answer.fields = Self.fields
        return answer
    }

    /// The page loads its own files and connects to its own emulator, and a value cannot become markup or script.
    private static let fields = [
        (
            name: "Content-Security-Policy",
            value: [
                "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
                "connect-src 'self'", "base-uri 'none'", "form-action 'none'",
                "frame-ancestors 'none'", "require-trusted-types-for 'script'",
                "trusted-types 'none'",
            ].joined(separator: "; ")
        ),
        (name: "X-Content-Type-Options", value: "nosniff"),
        (name: "Referrer-Policy", value: "no-referrer"),
        (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
        (name: "Cross-Origin-Opener-Policy", value: "same-origin"),
    ]

    private var type: String {
        switch self {
        case .html: "text/html; charset=utf-8"
        case .style: "text/css; charset=utf-8"
        case .icon: "image/svg+xml"
        default: "text/javascript; charset=utf-8"
        }
    }

    private var bytes: [UInt8] {
        switch self {
        case .html: PackageResources.page_html
        case .style: PackageResources.page_css
        case .icon: PackageResources.icon_svg
        case .api: PackageResources.api_js
        case .controls: PackageResources.controls_js
        case .devices: PackageResources.devices_js
        case .dom: PackageResources.dom_js
        case .events: PackageResources.events_js
        case .history: PackageResources.history_js
        case .keys: PackageResources.keys_js
        case .page: PackageResources.page_js
        case .record: PackageResources.record_js
        case .values: PackageResources.values_js
        }
    }
}
