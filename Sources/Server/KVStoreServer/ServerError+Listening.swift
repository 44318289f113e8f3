import Essentials
import NIOCore

extension ServerError {
    /// Why a server cannot listen, by the error of the network library.
    static func cannotListen(on address: ListenAddress, _ error: any Error) -> ServerError {
        let reason: String
        var hint: String?
        switch error {
        case let error as IOError:
            switch error.errnoCode {
            case EADDRINUSE:
                reason = "the port is in use"
                hint = "stop the program that listens there, or choose another port"
            case EACCES:
                reason = "permission denied"
                if address.port < 1_024 { hint = "choose a port above 1023" }
            case EADDRNOTAVAIL:
                reason = "this machine does not have the address"
                hint = "listen on one of its own, or on 0.0.0.0 for all"
            case let code: reason = String(cString: strerror(code)).lowercased()
            }
        case is SocketAddressError.UnknownHost: reason = "unknown host"
        default: reason = "\(error)"
        }
        return ServerError(.cannotListen, "cannot listen on \(address): \(reason)", hint: hint)
    }
}
