package import Essentials

/// Why a document cannot be read or written, as one sentence for users that names the field or the key.
package struct DocumentError: Error, Equatable, Sendable, ReportableError {
    package var exitStatus: ExitStatus { .dataError }
    package let description: String

    package init(_ description: String) { self.description = description }
}
