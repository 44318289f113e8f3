import Essentials
import KVStoreServer
import KVStoreWire
import NIOHTTP1
import WebPages

/// How a device installs and removes the private authority of the server, without a script: a browser that does not trust
/// the server shows it too.
struct CertificatePage: AdditionalResource {
    static let path = "/certificate"

    var template: String { Self.path }
    var methods: [HTTPMethod] { [.GET, .HEAD] }
    var needsToken: Bool { false }
    var bodyByteLimit: Int? { nil }

    func respond(
        to request: Request, by server: StoreServer, on _: WatcherRegistry,
        _ complete: @escaping (Result<Response, Problem>) -> Void
    ) throws(Problem) {
        let file = PageFile(
            Self.path, "certificate.html", Self.document(server.certificateAuthority), canCompress: false)
        complete(.success(.answer(file.answer(to: request.fields))))
    }

    /// No value needs to be escaped: those of an authority have been checked when it was read.
    static func document(_ authority: CertificateAuthority?) -> [UInt8] {
        guard let authority else { return PackageResources.no_authority_html }
        let values = [
            "name": authority.name,
            "hosts": authority.hosts.map(\.description).joined(separator: ", "),
            "until": authority.expires.formatted(.iso8601.year().month().day()),
            "fingerprint": authority.fingerprint,
        ]
        var text = String(decoding: PackageResources.certificate_html, as: UTF8.self)
        for (name, value) in values { text = text.replacing("{{\(name)}}", with: value) }
        return Array(text.utf8)
    }
}
