/// The version of the package: what every installed program prints with `--version`, and every snapshot carries.
package enum ProgramVersion {
    package static let text = "0.1.0"
}
