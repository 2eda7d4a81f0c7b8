package import Foundation

/// A file that is generated from a model.
package struct GeneratedFile: Equatable, Sendable {
    /// The name of the file, or its path in the output directory.
    package let name: String
    /// The contents of the file.
    package let contents: String

    /// Creates a file from its name and contents.
    package init(name: String, contents: String) {
        self.name = name
        self.contents = contents
    }

    /// Returns the header comment of Swift code.
    static func header(_ name: String, from model: String) -> String {
        """
        //
        //  \(name)
        //
        //  This file was generated from \(model) by ModelCompiler and should not be edited.
        //

        """
    }
}

/// A file of the compiled model.
package struct ModelResource: Equatable, Sendable {
    /// The name of the file in the directory `Library.momd`.
    package let name: String
    /// The contents of the file.
    package let data: Data
}
