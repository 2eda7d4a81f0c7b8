package import Foundation

/// The places where models and mapping models are looked for.
package enum ModelFolders {
    /// Returns the directories to search in bundles; nil for those of the program.
    package static func folders(of bundles: [Bundle]?) -> [URL] { ModelLocator.folders(of: bundles) }

    /// Returns whether what is compiled into the program belongs to the bundles, as to the main bundle.
    package static func includesProgram(_ bundles: [Bundle]?) -> Bool {
        guard let bundles, !bundles.isEmpty else { return true }
        let main = Bundle.main.bundleURL.standardizedFileURL
        return bundles.contains { $0.bundleURL.standardizedFileURL == main }
    }
}
