internal import Foundation

extension NSManagedObjectModel {
    /// Returns the metadata that say which version of the model a new store is of.
    ///
    /// - Parameter configuration: The configuration of the store; nil, or the name of the default one, for all entities.
    package final func versionMetadata(forConfigurationName configuration: String?) -> [String: Any] {
        let isWhole = configuration == NSPersistentStore.defaultConfiguration
        return versionMetadata(of: entities(forConfigurationName: isWhole ? nil : configuration) ?? [])
    }
}
