import Essentials
import KVStoreServer
import KVStoreWire
import NIOHTTP1

/// How a device installs and removes the private authority of the server, without a script: a browser that does not
/// trust the server shows it too.
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
        let file = server.certificateAuthority.map(Self.page) ?? Self.withoutAuthority
        complete(.success(.answer(file.answer(to: request.fields))))
    }

    private static let withoutAuthority = PageFile(path, "no-authority.html", PackageResources.no_authority_html)

    /// No value needs to be escaped: those of an authority have been checked when it was read.
    private static func page(_ authority: CertificateAuthority) -> PageFile {
        let values = [
            "name": authority.name,
            "hosts": authority.hosts.map(\.description).joined(separator: ", "),
            "until": authority.expires.formatted(.iso8601.year().month().day()),
            "fingerprint": authority.fingerprint,
        ]
        var text = String(decoding: PackageResources.certificate_html, as: UTF8.self)
        for (name, value) in values { text = text.replacing("{{\(name)}}", with: value) }
        return PageFile(path, "certificate.html", Array(text.utf8), canCompress: false)
    }
}
