internal import CoreData
