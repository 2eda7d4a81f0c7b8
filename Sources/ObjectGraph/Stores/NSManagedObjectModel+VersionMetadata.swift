internal import Foundation

extension NSManagedObjectModel {
    /// Returns the metadata that identify the version of the model for a new store.
    ///
    /// - Parameter configuration: The configuration of the store; nil, or the name of the default one, for all entities.
    package final func versionMetadata(forConfigurationName configuration: String?) -> [String: Any] {
        let isWhole = configuration == NSPersistentStore.defaultConfiguration
        return versionMetadata(of: entities(forConfigurationName: isWhole ? nil : configuration) ?? [])
    }
}
