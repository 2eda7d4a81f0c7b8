internal import Foundation
internal import ObjectGraph

enum MappingModelLocator {
    static func mappingModel(in bundles: [Bundle]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel) -> NSMappingModel? { nil }
}
