package import Foundation

/// The places that are searched for models and mapping models.
package enum ModelFolders {
    /// Returns the directories to search in bundles; nil for those of the program.
    package static func folders(of bundles: [Bundle]?) -> [URL] { ModelLocator.folders(of: bundles) }

    /// Returns whether models compiled into the program belong to the bundles, as they belong to the main bundle.
    package static func includesProgram(_ bundles: [Bundle]?) -> Bool {
        guard let bundles, !bundles.isEmpty else { return true }
        let main = Bundle.main.bundleURL.standardizedFileURL
        return bundles.contains { $0.bundleURL.standardizedFileURL == main }
    }
}
