import Essentials
import Commands
import KVStoreServer

/// The value of each setting and where it comes from.
struct EffectiveSettings {
    enum Origin: Equatable {
        case standard, environment, option
        case file(String)

        /// - Parameter setting: the setting that comes from here.
        func text(_ setting: Setting) -> String {
            switch self {
            case .standard: "default"
            case .file(let path): path
            case .environment: setting.variable
            case .option: "option"
            }
        }

        /// What precedes the name of a setting in an error.
        fileprivate var place: String {
            switch self {
            case .file(let path): "\(path): "
            case .environment: "environment: "
            case .standard, .option: ""
            }
        }
    }

    private(set) var values = ServeSettings()
    private var origins: [String: Origin] = [:]

    func origin(of setting: Setting) -> Origin { origins[setting.name] ?? .standard }

    /// Applies values by name, which win over the present ones.
    mutating func apply(_ given: [(name: String, value: String)], _ origin: Origin) throws(CommandFailure) {
        for (name, value) in given {
            guard let setting = Setting.named(name) else {
                throw CommandFailure(.configuration, "\(origin.place)unknown setting '\(name)'; kvsd config lists all")
            }
            guard setting.apply(value, &values) else {
                let named = origin == .environment ? setting.variable : origin.place + name
                throw CommandFailure(.configuration, "\(named) must be \(setting.requirement), not '\(value)'")
            }
            origins[name] = origin
        }
        if origins["request-burst"] == nil {
            values.limits.requestBurst = 4 * values.limits.requestsPerSecond
        }
    }

    func checkEncryption() throws(CommandFailure) {
        let hasFiles = !values.tlsKey.isEmpty
        if hasFiles == values.tlsCertificate.isEmpty {
            throw CommandFailure(.configuration, "--tls-certificate and --tls-key belong together")
        }
        if values.insecureAllowPlainHTTP, values.tls || hasFiles {
            throw CommandFailure(.configuration, "--insecure-allow-plain-http cannot be combined with TLS")
        }
    }

    var encryption: ServerConfiguration.Encryption {
        if !values.tlsKey.isEmpty {
            return .files(certificate: values.tlsCertificate, key: values.tlsKey)
        }
        let isPlain = values.listen.isLoopback || values.insecureAllowPlainHTTP
        return values.tls || !isPlain ? .ownCertificate : .none
    }
}
