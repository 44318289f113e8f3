import ArgumentParser
import Commands
import Essentials

struct PhoneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "phone",
        abstract: "Show the bars on a phone, or in any browser.",
        discussion: """
            Prints an address and its QR code, which signs one browser in, once and within ten minutes.

            EXAMPLES
              ubq phone
              ubq phone --write      the page may also change keys
            """)

    @Option(help: "Name of the phone; by default its browser's, such as 'Safari on iPhone'.") var name: String?
    @Flag(help: "Let the page change keys.") var write = false

    func run() throws {
        let address = try PairingCodes.page(options: (name.map { ["--name", $0] } ?? []) + (write ? ["--write"] : []))
        try Console.printScannable(address)
        Console.note(try CertificateAdvice.current().text)
    }
}

/// What a browser says of the daemon's certificate, and the way to more.
enum CertificateAdvice: Equatable {
    case trusted
    case selfSigned
    case authority
    case unknown

    static func current() throws -> CertificateAdvice {
        switch try Sibling.daemon.report(CertificateReport.self, ["certificate", "--json"])?.source {
        case "files": .trusted
        case "authority": .authority
        case "self-signed": .selfSigned
        default: .unknown
        }
    }

    var text: String {
        switch self {
        case .trusted: "The browser trusts this certificate: notifications and the home screen work."
        case .authority:
            "Once the phone has installed the authority of this daemon (kvsd certificate authority --help), it trusts the "
                + "address, and notifications and the home screen work."
        case .selfSigned:
            "The browser warns once, as nobody has signed this daemon's certificate: the bars work, notifications do "
                + "not. For those: kvsd certificate --help"
        case .unknown: "What this certificate gives in a browser: docs/certificates.md"
        }
    }
}
