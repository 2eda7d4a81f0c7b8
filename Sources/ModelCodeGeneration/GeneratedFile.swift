package import Foundation

/// A file that is generated from a model.
package struct GeneratedFile: Equatable, Sendable {
    /// Its name, or its path in the folder that everything is written to.
    package let name: String
    /// What it holds.
    package let contents: String

    /// Makes a file of its name and what it holds.
    package init(name: String, contents: String) {
        self.name = name
        self.contents = contents
    }

    /// The comment at the top of Swift code.
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
    /// Its name in the folder `Library.momd`.
    package let name: String
    /// What it holds.
    package let data: Data
}
